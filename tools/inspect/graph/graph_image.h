/* What graph files say of images and samplers. */
#pragma once

#include "tools/inspect/graph/graph_data.h"
#include "tools/inspect/graph/reader.h"

/* The mapping of an image; its name is there already. */
bool graph_image_read(struct reader *r, const yaml_node_t *n, struct file_buffer *image);
/* { normalized, addressing, filter } */
bool graph_sampler_read(struct reader *r, const yaml_node_t *n, fusion_sampler *sampler);
/* Where pixels are: keys of a copy or fill that has an image. */
bool graph_pixels_read(struct reader *r, const yaml_node_t *n, struct file_node *node);
/* The value of each channel. */
bool graph_pixel_read(struct reader *r, const yaml_node_t *n, struct file_node *node);
